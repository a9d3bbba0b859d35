/* SPDX-License-Identifier: GPL-2.0 */
/* The option --hca. */

#ifndef OHCAD_OPTIONS_HCA_H
#define OHCAD_OPTIONS_HCA_H

#include "options.h"

/* Parse the value of the option into @hca, which is zero before; @text is changed.  Call options_hca_free() in any case. */
enum options_result options_hca_parse(struct hca_options *hca, char *text);
/* Free the strings and lists of @hca. */
void options_hca_free(const struct hca_options *hca);

/* Has it an InfiniBand port? */
bool options_hca_has_ib(const struct hca_options *hca);

/* Print an error of the command line.  Returns OPTIONS_BAD. */
__attribute__((format(printf, 1, 2))) enum options_result options_bad(const char *fmt, ...);
/* The same for what a parser found @wrong in @text, the value of @option; NULL: nothing, OPTIONS_RUN */
enum options_result options_no_error(const char *option, const char *text, const char *wrong);

#endif
