/* SPDX-License-Identifier: Apache-2.0 */
/* view_page.h - the sources of the page (tools/view/), made into texts when cuvmm is built. */
#ifndef CUVMM_TOOLS_VIEW_PAGE_H
#define CUVMM_TOOLS_VIEW_PAGE_H

extern const char view_page_html[], view_page_css[], view_page_js[];

#endif
