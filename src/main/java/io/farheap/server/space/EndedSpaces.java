package io.farheap.server.space;

import io.farheap.control.SpaceKey;
import java.security.MessageDigest;
import java.util.ArrayDeque;

/**
 * Spaces that have ended, so that a repeated call has the same result: a space that was dropped stays dropped even if
 * another one has its name now, and one that was created and has ended is not created again. Remembers the last
 * {@value #REMEMBERED}. Thread-safe.
 */
final class EndedSpaces {

    private static final int REMEMBERED = 1024;

    private record EndedSpace(long id, long creationId, String name, byte[] tokenHash) {}

    private final ArrayDeque<EndedSpace> last = new ArrayDeque<>();

    synchronized void add(Space space) {
        last.add(new EndedSpace(space.id(), space.creationId(), space.name(), space.tokenHash()));
        if (last.size() > REMEMBERED) {
            last.remove();
        }
    }

    synchronized boolean created(long creationId) {
        return last.stream().anyMatch(space -> space.creationId == creationId);
    }

    /** Whether a space with that id and that key has ended. */
    synchronized boolean ended(long spaceId, SpaceKey key) {
        return last.stream()
                .anyMatch(space -> space.id == spaceId
                        && space.name.equals(key.name())
                        && MessageDigest.isEqual(space.tokenHash, key.tokenHash()));
    }
}
