package io.farheap.manager.allocation;

import io.farheap.memory.ByteSize;

/** Thrown if there is no room for what was asked for. */
public final class NoRoomException extends Exception {

    private static final long serialVersionUID = 1;

    private final long most;

    NoRoomException(long most) {
        super("the most that servers of one region size have free is " + ByteSize.text(most));
        this.most = most;
    }

    /** Bytes that could be had instead, under the same objective and for as long; 0 if there are none. */
    public long most() {
        return most;
    }
}
