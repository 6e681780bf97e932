// SPDX-License-Identifier: BSD-3-Clause
//
// Nothing: the library of precompiled headers needs a source.
