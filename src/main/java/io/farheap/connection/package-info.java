/**
 * One queue pair: prebuilt work requests, lists, fences behind READs and atomics that overlap, and a pair of words that
 * two processes write to each other. This package does not know which server is at the other end, nor how a failure is
 * handled.
 */
@NullMarked
package io.farheap.connection;

import org.jspecify.annotations.NullMarked;
