/**
 * What the seam and all that stands on it share: a memory server and its regions as their client sees them, what
 * becomes of operations and calls, and the callbacks that say so. Begin with
 * {@link io.farheap.remote.contract.RemoteServer} and {@link io.farheap.remote.contract.Outcome}.
 */
@NullMarked
package io.farheap.remote.contract;

import org.jspecify.annotations.NullMarked;
