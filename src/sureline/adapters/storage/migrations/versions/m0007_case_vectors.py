"""Past cases beyond the window that a process keeps in memory, for pgvector.

Revision: 0007. A released migration is never edited; `case_vector_rows.py` says how things are now.
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """On PostgreSQL, create the tables and let them follow erasures; on SQLite there are none.

    Where the extension `vector` cannot be had, only the table that needs it is missing. The
    function that makes it stays, for the day on which somebody installs the extension.
    """
    if op.get_bind().dialect.name == "sqlite":
        return
    _standing()
    _follow_the_ledger()
    _vectors()


def downgrade() -> None:
    """Drop what was made: all of it follows from the ledger."""
    if op.get_bind().dialect.name == "sqlite":
        return
    op.execute("DROP TRIGGER remade_vectors_read_again ON remade_vectors")
    op.execute("DROP TRIGGER labels_read_again ON labels")
    op.execute("DROP TRIGGER erasures_forget_cases ON erasures")
    for table in ("case_vectors", "case_scopes", "case_cursors"):
        op.execute(f"DROP TABLE IF EXISTS {table}")
    for function in ("forget_case", "read_labels_again", "read_remade_again", "case_vectors"):
        op.execute(f"DROP FUNCTION sureline_{function}()")


def _standing() -> None:
    """Create what says how far the cases of a model were read, and which slices there are."""
    op.execute(
        'CREATE TABLE case_cursors (model_id text COLLATE "C" NOT NULL, '
        "dimension integer NOT NULL, cursor bigint NOT NULL, "
        "CONSTRAINT pk_case_cursors PRIMARY KEY (model_id, dimension))"
    )
    op.execute(
        "CREATE TABLE case_scopes (id integer GENERATED ALWAYS AS IDENTITY "
        'CONSTRAINT pk_case_scopes PRIMARY KEY, workspace text COLLATE "C" NOT NULL, '
        'slice_key text COLLATE "C" NOT NULL, model_id text COLLATE "C" NOT NULL, '
        "dimension integer NOT NULL, recall double precision, recall_low double precision, "
        "queries integer, rows_measured bigint, measured_at bigint, "
        "CONSTRAINT uq_case_scopes UNIQUE (workspace, slice_key, model_id, dimension))"
    )


_BY_OTHERS = (
    "FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND "
    "current_setting('sureline.case_vectors', true) IS DISTINCT FROM 'filled') "
    "EXECUTE FUNCTION sureline_read_labels_again()"
)
"""Whoever changes what was taken in, other than the job that takes in, has it taken in again."""


def _vectors() -> None:
    """Create the table of vectors, or leave it to whoever calls the function later.

    A vector of two thousand numbers stays in its row: fetched from elsewhere, each costs a read.
    """
    op.execute(
        "CREATE FUNCTION sureline_case_vectors() RETURNS text LANGUAGE plpgsql AS $$ "  # noqa: S608
        "DECLARE said text; found text; BEGIN "
        "IF to_regclass('case_vectors') IS NOT NULL THEN RETURN NULL; END IF; "
        "BEGIN "
        "CREATE EXTENSION IF NOT EXISTS vector; "
        "SELECT extversion INTO found FROM pg_extension WHERE extname = 'vector'; "
        "IF string_to_array(split_part(found, '-', 1), '.')::int[] < ARRAY[0, 8] THEN "
        "RETURN 'its extension vector is ' || found || '; 0.8 or later is needed'; END IF; "
        "CREATE TABLE case_vectors (scope integer NOT NULL, mark bigint NOT NULL, "
        'decision_id text COLLATE "C" NOT NULL, approved boolean NOT NULL, vector vector, '
        "CONSTRAINT pk_case_vectors PRIMARY KEY (scope, decision_id)) "
        "WITH (toast_tuple_target = 8160); "
        "CREATE INDEX ix_case_vectors_mark ON case_vectors (scope, mark) "
        "WHERE vector IS NOT NULL; "
        "CREATE INDEX ix_case_vectors_unusable ON case_vectors (scope, mark) "
        "WHERE vector IS NULL; "
        "CREATE TRIGGER case_vectors_read_again AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE "
        "ON case_vectors " + _BY_OTHERS + "; "
        "EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS said = MESSAGE_TEXT; RETURN said; "
        "END; RETURN NULL; END $$"
    )
    op.execute("SELECT sureline_case_vectors()")


def _follow_the_ledger() -> None:
    """Delete an erased case in the erasure's own transaction; read again what was made anew."""
    op.execute(
        "CREATE FUNCTION sureline_forget_case() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF to_regclass('case_vectors') IS NOT NULL THEN "
        "DELETE FROM case_vectors USING case_scopes WHERE case_scopes.id = case_vectors.scope "
        "AND case_scopes.workspace = NEW.workspace "
        "AND case_vectors.decision_id = NEW.decision_id; END IF; RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER erasures_forget_cases AFTER INSERT ON erasures "
        "FOR EACH ROW EXECUTE FUNCTION sureline_forget_case()"
    )
    op.execute(
        "CREATE FUNCTION sureline_read_labels_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF to_regclass('case_vectors') IS NOT NULL THEN DELETE FROM case_vectors; END IF; "
        "UPDATE case_cursors SET cursor = 0; RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER labels_read_again AFTER DELETE ON labels "
        "FOR EACH STATEMENT EXECUTE FUNCTION sureline_read_labels_again()"
    )
    op.execute(
        "CREATE FUNCTION sureline_read_remade_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "UPDATE case_cursors SET cursor = 0 WHERE model_id = NEW.model_id AND cursor > 0; "
        "RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER remade_vectors_read_again AFTER INSERT OR UPDATE ON remade_vectors "
        "FOR EACH ROW EXECUTE FUNCTION sureline_read_remade_again()"
    )
    op.execute(
        "CREATE TRIGGER case_scopes_read_again AFTER UPDATE OF workspace, slice_key, model_id, "
        f"dimension OR DELETE OR TRUNCATE ON case_scopes {_BY_OTHERS}"
    )
    op.execute(
        "CREATE TRIGGER case_cursors_read_again AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE "
        f"ON case_cursors {_BY_OTHERS}"
    )
