package io.farheap.server.contract;

import java.lang.foreign.MemorySegment;

/**
 * A shared space as services in its server's process see it. Its memory may be used inside a call's handler on a server
 * thread, until the handler returns ({@link ServedSpaces#find}), and while a {@link SpacePin} is open. Clients read it
 * at the same time, and write it unless it is {@linkplain #readOnly read-only}. A device promises atomicity among its
 * own operations alone, so a service never stores into a word that clients compare-and-swap or add to.
 */
public interface ServedSpace {

    /** The space's id: no other space of this server has had it; never 0. */
    long id();

    String name();

    /** The descriptor that its creator gave; a copy. */
    byte[] descriptor();

    /** How many regions the space has now. */
    int regions();

    long regionBytes();

    /**
     * A region's bytes. Allocates nothing.
     *
     * @param place from 0 to {@link #regions} - 1, as clients count them
     * @throws IndexOutOfBoundsException if there is no such region
     */
    MemorySegment region(int place);

    /** Whether clients may READ it and nothing else, so that services alone have stored what it has. */
    boolean readOnly();

    /** Whether a lease has it open, such as the one that a call comes from. Allocates nothing. */
    boolean openedBy(long leaseId);
}
