/* SPDX-License-Identifier: Apache-2.0 */
/* call_params.h - a call's parameters, VMM_PARAMS_<name> of calls.def, as lists of anything that the including file needs.
 *
 *     VMM_EACH(USE, (ADDRESS, ptr), (SIZE, size))  ->  USE(ADDRESS, ptr) USE(SIZE, size)
 *     VMM_LIST(USE, (ADDRESS, ptr), (SIZE, size))  ->  USE(ADDRESS, ptr), USE(SIZE, size)
 *
 * For a call without parameters, VMM_EACH expands to nothing and VMM_LIST to USE_NONE.
 *
 * A call has at most nine parameters; a tenth needs a line each in VMM_EACH and VMM_LIST.
 */
#ifndef CUVMM_CALL_PARAMS_H
#define CUVMM_CALL_PARAMS_H

#define VMM_EACH(USE, ...) \
    VMM_TENTH(__VA_ARGS__, VMM_EACH9, VMM_EACH8, VMM_EACH7, VMM_EACH6, VMM_EACH5, VMM_EACH4, VMM_EACH3, VMM_EACH2, VMM_EACH1, ~) \
    (USE, __VA_ARGS__)
#define VMM_LIST(USE, ...) \
    VMM_TENTH(__VA_ARGS__, VMM_LIST9, VMM_LIST8, VMM_LIST7, VMM_LIST6, VMM_LIST5, VMM_LIST4, VMM_LIST3, VMM_LIST2, VMM_LIST1, ~) \
    (USE, __VA_ARGS__)
#define VMM_TENTH(a, b, c, d, e, f, g, h, i, tenth, ...) tenth

/* Detects whether there is a pair: VMM_PAIR before a pair expands to two arguments, the second of which is VMM_ONE; before
 * nothing it stays one argument. */
#define VMM_EACH1(USE, a) VMM_SECOND(VMM_PAIR a, VMM_NOTHING, ~)(USE, a)
#define VMM_LIST1(USE, a) VMM_SECOND(VMM_PAIR a, VMM_NONE, ~)(USE, a)
#define VMM_PAIR(type, name) ~, VMM_ONE
#define VMM_SECOND(...) VMM_SECOND_OF(__VA_ARGS__)
#define VMM_SECOND_OF(first, second, ...) second
#define VMM_ONE(USE, a) VMM_EXPAND(USE a)
#define VMM_NONE(USE, a) USE##_NONE
#define VMM_NOTHING(USE, a)

/* VMM_EXPAND: cppcheck finds a macro's name and its parenthesis only within arguments. */
#define VMM_EXPAND(...) __VA_ARGS__
#define VMM_EACH2(USE, a, b) VMM_EXPAND(USE a USE b)
#define VMM_EACH3(USE, a, b, c) VMM_EXPAND(USE a USE b USE c)
#define VMM_EACH4(USE, a, b, c, d) VMM_EXPAND(USE a USE b USE c USE d)
#define VMM_EACH5(USE, a, b, c, d, e) VMM_EXPAND(USE a USE b USE c USE d USE e)
#define VMM_EACH6(USE, a, b, c, d, e, f) VMM_EXPAND(USE a USE b USE c USE d USE e USE f)
#define VMM_EACH7(USE, a, b, c, d, e, f, g) VMM_EXPAND(USE a USE b USE c USE d USE e USE f USE g)
#define VMM_EACH8(USE, a, b, c, d, e, f, g, h) VMM_EXPAND(USE a USE b USE c USE d USE e USE f USE g USE h)
#define VMM_EACH9(USE, a, b, c, d, e, f, g, h, i) VMM_EXPAND(USE a USE b USE c USE d USE e USE f USE g USE h USE i)
#define VMM_LIST2(USE, a, b) VMM_EXPAND(USE a, USE b)
#define VMM_LIST3(USE, a, b, c) VMM_EXPAND(USE a, USE b, USE c)
#define VMM_LIST4(USE, a, b, c, d) VMM_EXPAND(USE a, USE b, USE c, USE d)
#define VMM_LIST5(USE, a, b, c, d, e) VMM_EXPAND(USE a, USE b, USE c, USE d, USE e)
#define VMM_LIST6(USE, a, b, c, d, e, f) VMM_EXPAND(USE a, USE b, USE c, USE d, USE e, USE f)
#define VMM_LIST7(USE, a, b, c, d, e, f, g) VMM_EXPAND(USE a, USE b, USE c, USE d, USE e, USE f, USE g)
#define VMM_LIST8(USE, a, b, c, d, e, f, g, h) VMM_EXPAND(USE a, USE b, USE c, USE d, USE e, USE f, USE g, USE h)
#define VMM_LIST9(USE, a, b, c, d, e, f, g, h, i) VMM_EXPAND(USE a, USE b, USE c, USE d, USE e, USE f, USE g, USE h, USE i)

/* The building blocks of most lists, for (ADDRESS, ptr): */
#define VMM_TYPED(type, name) call_##type name       /* vmm_deviceptr ptr */
#define VMM_TYPED_NONE void
#define VMM_NAMED(type, name) name                   /* ptr */
#define VMM_MEMBER(type, name) call->name            /* call->ptr */
#define VMM_MEMBER_NONE
#define VMM_AND_TYPED(type, name) , call_##type name /* the same after another argument */
#define VMM_AND_NAMED(type, name) , name
#define VMM_AND_MEMBER(type, name) , call->name

#endif
