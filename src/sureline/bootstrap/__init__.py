"""The composition root: the only place where adapters are chosen."""

from sureline.adapters.policies import load_policy as load_policy
from sureline.adapters.reports import drawing as drawing
from sureline.adapters.reports.calibration_html import (
    write_calibration_html as write_calibration_html,
)
from sureline.adapters.tables import open_table as open_table
from sureline.bootstrap.canaries import canaries_of as canaries_of
from sureline.bootstrap.notifiers import courier_of as courier_of
from sureline.bootstrap.notifiers import delivery_thread as delivery_thread
from sureline.bootstrap.opening import open_services as open_services
from sureline.bootstrap.operations import operations_of as operations_of
from sureline.bootstrap.plugins import Plugins as Plugins
from sureline.bootstrap.policy_watching import policy_thread as policy_thread
from sureline.bootstrap.policy_watching import policy_watch as policy_watch
from sureline.bootstrap.providers import provider_warnings as provider_warnings
from sureline.bootstrap.services import Services as Services
from sureline.bootstrap.sources import check_sources as check_sources
from sureline.bootstrap.sweeping import sweep_thread as sweep_thread
from sureline.bootstrap.tracing import environment_plugins as environment_plugins
from sureline.bootstrap.tracing import tracer_on as tracer_on
from sureline.bootstrap.working import working as working
