package io.farheap.control;

/**
 * A memory server, as it introduces itself.
 *
 * @param serverId random, drawn when the server starts: a restarted server is another one
 * @param name for people
 * @param domain its failure domain: servers of one domain may fail together. At most
 *     {@code ControlPlane.MAX_NAME_LENGTH} printable characters; if empty, the server is a domain of its own
 * @param protocolVersion the server's {@code ControlPlane.PROTOCOL_VERSION}
 * @param regionBytes size of each of its regions
 * @param totalRegions regions that it donates
 * @param freeRegions those that no lease held when it answered
 */
public record ServerDescription(
        long serverId,
        String name,
        String domain,
        int protocolVersion,
        long regionBytes,
        int totalRegions,
        int freeRegions) {}
