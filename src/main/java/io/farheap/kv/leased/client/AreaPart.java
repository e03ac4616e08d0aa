package io.farheap.kv.leased.client;

import io.farheap.remote.contract.RemoteRegion;
import org.jspecify.annotations.Nullable;

/**
 * A part of a process's area at a server that a request has, or the ring of a session. One thread, but for
 * {@link #askedAt}, which the area's lock guards.
 */
final class AreaPart {

    /** Null if there is none. */
    @Nullable
    RemoteRegion region;

    long at;
    int bytes;
    /** When it was last asked for. */
    long askedAt;
}
