/**
 * One queue pair as others use it: prebuilt work requests, lists, fences behind READs and atomics that overlap, and two
 * words that two processes write into each other. Which server is at the other end, and what becomes of a failure, is
 * not known here.
 */
@NullMarked
package io.farheap.connection;

import org.jspecify.annotations.NullMarked;
