/**
 * What a memory server does for stored procedures: it admits and translates them, keeps where each lease's regions are,
 * and runs calls on the threads that serve message rings, in slices (CompuCache, CIDR 2022).
 */
@NullMarked
package io.farheap.procedure.service;

import org.jspecify.annotations.NullMarked;
