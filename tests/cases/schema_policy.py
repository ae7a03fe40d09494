"""The policy of the rows about outputs: a slice for each way of checking."""

from __future__ import annotations

from datetime import date


def schema_policy(starts: date) -> str:
    """Return the policy with uncertified thresholds from `starts` on: .9 approves, .5 rejects."""
    return f"""\
version: 1
defaults:
  mode: route
  attempts: 20
  reject_audit_rate: 0
  weights: {{verification: 1}}
  hypothesis: {{auto: 0.9, reject: 0.5, allow_uncertified: true, starts: {starts}}}
slices:
  objects: {{}}
  invoices:
    output:
      json_schema:
        type: object
        required: [amount]
        properties:
          amount: {{type: number, exclusiveMinimum: 0}}
          tax_rate: {{type: number}}
          due_date: {{type: string, format: date}}
  figures:
    rules: [{{field: amount, type: number, required: true, penalty: 0.3}}]
  german:
    reading: {{locale: de}}
    rules: [{{field: text, type: money, between: [1234.56, 1234.56], penalty: 0.3}}]
  english:
    reading: {{locale: en}}
    rules: [{{field: text, type: money, required: true, penalty: 0.3}}]
  french:
    reading: {{locale: fr}}
    rules: [{{field: text, type: money, between: [7412.90, 7412.90], penalty: 0.3}}]
  era:
    reading: {{locale: ja, japanese_era: true}}
    rules:
      - {{field: text, not_before: 2026-06-15, penalty: 0.3}}
      - {{field: text, not_after: 2026-06-15, penalty: 0.3}}
  no_era:
    reading: {{locale: ja}}
    rules: [{{field: text, type: date, required: true, penalty: 0.3}}]
  day_first:
    reading: {{date_order: DMY}}
    rules:
      - {{field: text, not_before: 2026-03-07, penalty: 0.3}}
      - {{field: text, not_after: 2026-03-07, penalty: 0.3}}
  dates:
    reading: {{date_order: DMY}}
    rules: [{{field: text, type: date, required: true, penalty: 0.3}}]
  tokyo:
    reading: {{timezone: Asia/Tokyo}}
    rules: [{{field: due_date, not_before: today}}]
  totals:
    reading: {{locale: de}}
    grounding: {{fields: [amount]}}
  amounts:
    grounding: {{fields: [amount]}}
  entities:
    grounding: {{fields: [entity]}}
  routes:
    verification: fraction
    rules: [{{field: weight, between: [1, 10]}}]
  grounded_routes:
    verification: fraction
    rules: [{{field: weight, between: [1, 10]}}]
    grounding: {{fields: [destination]}}
"""
