package io.farheap.control.plane;

/**
 * The right to read one region of a server, once.
 *
 * @param token {@code ControlPlane.TOKEN_BYTES} random bytes; any process that has them can use the right
 * @param validNanos how long after {@code ControlPlane.export} it can be opened
 */
public record Ticket(byte[] token, long validNanos) {

    /** Omits the token, which is a secret. */
    @Override
    public String toString() {
        return "Ticket, to be opened within " + validNanos / 1_000_000 + " ms";
    }
}
