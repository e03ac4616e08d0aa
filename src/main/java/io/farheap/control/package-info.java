/**
 * The control plane: how a client finds out about a memory server, keeps a lease, connects queue pairs and is granted
 * regions. Nothing here is on the data path.
 *
 * <p>This package has what the library's users see of it. {@link io.farheap.control.plane.ControlPlane} is the whole: a
 * memory server implements it, {@link io.farheap.control.grpc.ControlServer} serves an implementation over gRPC, and
 * {@link io.farheap.control.grpc.ControlClient} is the same interface at the other end.
 */
@NullMarked
package io.farheap.control;

import org.jspecify.annotations.NullMarked;
