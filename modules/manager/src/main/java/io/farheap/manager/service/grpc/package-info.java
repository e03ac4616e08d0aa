/** A cache manager over gRPC: the server of a leading manager, and that of one that stands by. */
@NullMarked
package io.farheap.manager.service.grpc;

import org.jspecify.annotations.NullMarked;
