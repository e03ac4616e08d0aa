/**
 * The control plane: the calls by which a client learns about a memory server, keeps a lease, connects queue pairs and
 * is granted regions. Nothing here is on the data path.
 *
 * <p>This package contains the types that users of the library see. {@link io.farheap.control.plane.ControlPlane} is
 * the whole interface: a memory server implements it, {@link io.farheap.control.grpc.ControlServer} serves an
 * implementation over gRPC, and {@link io.farheap.control.grpc.ControlClient} is the same interface at the client.
 */
@NullMarked
package io.farheap.control;

import org.jspecify.annotations.NullMarked;
