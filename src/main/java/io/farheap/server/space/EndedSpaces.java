package io.farheap.server.space;

import io.farheap.control.SpaceKey;
import java.security.MessageDigest;
import java.util.ArrayDeque;

/**
 * What a call that is repeated must not find changed: a space that was dropped is so also where another has its name,
 * and one that was created and has ended is not created anew. Remembers the last {@value #REMEMBERED}. Thread-safe.
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

    /** Whether a space has ended that had that id and that key. */
    synchronized boolean ended(long spaceId, SpaceKey key) {
        return last.stream()
                .anyMatch(space -> space.id == spaceId
                        && space.name.equals(key.name())
                        && MessageDigest.isEqual(space.tokenHash, key.tokenHash()));
    }
}
