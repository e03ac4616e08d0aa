package io.farheap.control.plane;

/**
 * The protocol by which a client leads a {@linkplain ControlPlane#preparePull prepared pull}: the server copies only
 * bytes that the client has cleared, in the order of addresses. Both sides count bytes from the beginning of the
 * region, and inform each other by RDMA WRITEs of 8 bytes.
 *
 * <ul>
 *   <li>The server writes {@code offset} when its copy begins, and from then on, after each piece, the offset up to
 *       which it has copied.
 *   <li>The client writes the offset up to which it has cleared; its marks only grow. A mark beyond {@code end}, or
 *       smaller than one before, ends the pull; {@link #STOP} is such a mark.
 * </ul>
 *
 * @param client the word in which the server stores its offset for the client
 * @param offset where the copy begins
 * @param end where it ends
 * @param pieceBytes how much is copied at a time; the server takes less if its device cannot carry that much in one
 *     message
 */
public record PullPace(WatermarkEndpoint client, long offset, long end, int pieceBytes) {

    /** The client's mark that ends a pull. */
    public static final long STOP = -1;

    /** The least that {@link #pieceBytes} may be. */
    public static final int MIN_PIECE_BYTES = 512;

    /** The most that {@link #pieceBytes} may be. */
    public static final int MAX_PIECE_BYTES = 1 << 30;
}
