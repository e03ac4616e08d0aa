/**
 * The memory server's part of stored procedures: it admits and translates them, keeps the addresses of each lease's
 * regions, and runs calls in slices on the threads that serve message rings (CompuCache, CIDR 2022).
 */
@NullMarked
package io.farheap.procedure.service;

import org.jspecify.annotations.NullMarked;
