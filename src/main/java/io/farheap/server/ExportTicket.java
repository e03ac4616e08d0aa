package io.farheap.server;

import java.util.HexFormat;

/** The right to read a granted region once. Whoever takes it out of {@link ExportTickets} has used it. */
final class ExportTicket {

    final Grant grant;
    final long deadline;
    private final ExportTickets tickets;
    private final byte[] token;

    ExportTicket(ExportTickets tickets, byte[] token, Grant grant, long deadline) {
        this.tickets = tickets;
        this.token = token;
        this.grant = grant;
        this.deadline = deadline;
    }

    byte[] token() {
        return token.clone();
    }

    String key() {
        return HexFormat.of().formatHex(token);
    }

    void revoke() {
        tickets.remove(this);
    }
}
