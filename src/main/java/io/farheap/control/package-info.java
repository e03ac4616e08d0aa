/**
 * The control plane: how a client finds out about a memory server, keeps a lease, connects queue pairs and is granted
 * regions.
 *
 * <p>{@link io.farheap.control.ControlPlane} is the whole of it. A memory server implements it,
 * {@link io.farheap.control.ControlServer} serves an implementation over gRPC, and
 * {@link io.farheap.control.ControlClient} is the same interface at the other end. Nothing here is on the data path.
 */
@NullMarked
package io.farheap.control;

import org.jspecify.annotations.NullMarked;
