/* A library that bad_pointers closes while it still points into it. */
const char left_behind[8192] = {1};
