package io.farheap.manager.allocation;

import io.farheap.memory.ByteSize;

/** There is no room. */
public final class NoRoomException extends Exception {

    private static final long serialVersionUID = 1;

    private final long most;

    NoRoomException(long most) {
        super("the most that servers of one region size have free is " + ByteSize.text(most));
        this.most = most;
    }

    /** Bytes that could be had instead, under the same objective and for as long; 0 for none. */
    public long most() {
        return most;
    }
}
