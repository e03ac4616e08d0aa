/** A cache manager over gRPC: the one that leads, and the one that stands by. */
@NullMarked
package io.farheap.manager.service.grpc;

import org.jspecify.annotations.NullMarked;
