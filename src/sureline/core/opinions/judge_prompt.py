"""What a judge is shown: it is to refute, not to rate (G9)."""

from __future__ import annotations

import hashlib

from sureline.core.opinions.fence import FENCE_RULE

INSTRUCTIONS = f"""You review one output of another system before it is acted on. Look for the \
strongest reason why acting on it would be wrong, unsafe or unsupported by the source. Agree only \
if you looked and found none.

{FENCE_RULE}

Answer with one JSON object and nothing else:
{{"agrees": true or false, "confidence": a number from 0 to 1, "failure_mode": words or null}}
"""

TEMPLATE_HASH = hashlib.sha256(INSTRUCTIONS.encode()).hexdigest()[:16]
"""Changes when our own words change."""
