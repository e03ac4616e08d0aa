package io.farheap.manager.state;

import org.jspecify.annotations.Nullable;

/** Thrown if stored bytes are no record: another program wrote them, or a newer version did. */
public final class MalformedRecordException extends StateException {

    public MalformedRecordException(String path, String fault) {
        this(path, fault, null);
    }

    /** @param fault why it is no record */
    public MalformedRecordException(String path, String fault, @Nullable Throwable cause) {
        super("the record at " + path + " cannot be read: " + fault, cause);
    }
}
