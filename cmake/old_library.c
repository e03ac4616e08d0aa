/*
 * A library of glibc before 2.34, as far as linking against it needs: FARHEAP_OLD_LIBRARY is one of the lists. What is
 * found in it here is found in that library there; with newer ones, in libc. It is never loaded.
 */
#include "glibc_symbols.h"

#define DEFINE(name, version) \
	void name(void) \
	{ \
	} \
	__asm__(".symver " #name "," #name "@@@GLIBC_" #version);
FARHEAP_OLD_LIBRARY(DEFINE)
