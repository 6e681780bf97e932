# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark against all peers: three MPIs, each natively and with Stretto, on one node."""
