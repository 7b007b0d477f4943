/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "libapproval/approval.h"

const char *approval_version(void)
{
	return PACKAGE_VERSION;
}
