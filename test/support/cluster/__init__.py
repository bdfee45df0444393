# SPDX-License-Identifier: Apache-2.0
"""A test API server and kubelet: see README.md."""
