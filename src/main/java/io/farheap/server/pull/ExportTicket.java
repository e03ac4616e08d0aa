package io.farheap.server.pull;

import java.util.HexFormat;

/**
 * The right to read a granted region once. The thread that takes it out of {@link ExportTickets} has used it.
 *
 * @param <E> the type that represents an exported region
 */
public final class ExportTicket<E> {

    public final E export;
    final long deadline;
    private final byte[] token;

    ExportTicket(byte[] token, E export, long deadline) {
        this.token = token;
        this.export = export;
        this.deadline = deadline;
    }

    public byte[] token() {
        return token.clone();
    }

    String key() {
        return HexFormat.of().formatHex(token);
    }
}
