// SPDX-License-Identifier: Apache-2.0
// Nothing: a target needs a source to have a precompiled header that others can share.
