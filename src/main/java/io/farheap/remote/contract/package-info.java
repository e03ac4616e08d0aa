/**
 * Types that the seam shares with the packages above it: a memory server and its regions as their client sees them, the
 * outcomes of operations and calls, and the callbacks that receive them. Begin with
 * {@link io.farheap.remote.contract.RemoteServer} and {@link io.farheap.remote.contract.Outcome}.
 */
@NullMarked
package io.farheap.remote.contract;

import org.jspecify.annotations.NullMarked;
