/* One line of the dumb log: what the functions of dumb_logger.c are written with. */
#ifndef TESTS_ORACLE_LINE_H
#define TESTS_ORACLE_LINE_H

#include <stddef.h>

/* "T<thread> <function> <name>=<kind>:<value> ...", one call a line, in the order of return. Kinds: i a number,
   o an object handle, p a host address, b bytes in hex, t text in hex, s a site (module file name+offset). */
struct line {
  int quiet; /* the call was not made by the program: nothing is written */
  size_t used;
  char text[8192];
};

/* Also counts one level deeper; `caller` is the return address. */
void line_begin(struct line* l, const char* function, const void* caller);
void line_number(struct line* l, const char* name, long long value);
void line_object(struct line* l, const char* name, const void* handle);
void line_pointer(struct line* l, const char* name, const void* address);
void line_bytes(struct line* l, const char* name, const void* bytes, size_t size);
void line_objects(struct line* l, const char* name, const void* const* list, size_t count);
void line_numbers(struct line* l, const char* name, const size_t* list, size_t count);
void line_end(struct line* l); /* writes the line; one level up again */

/* The function that comes after this library. */
void* next_function(const char* name);

/* Calls made by threads created inside a logged call are the driver's. */
int inside_call(void);
void mute_thread(void);

#endif
