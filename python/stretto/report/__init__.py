# SPDX-License-Identifier: BSD-3-Clause
"""What STRETTO_PROFILE has written, as a page to read."""
