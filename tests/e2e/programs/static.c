// A program without a dynamic linker: nothing can be preloaded into it.
#include <stdio.h>

int main(void) { return puts("static"), 0; }
