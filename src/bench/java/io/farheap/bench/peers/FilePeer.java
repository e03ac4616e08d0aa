package io.farheap.bench.peers;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A file on a local disk: through the page cache, if a put need not reach the disk, or past it, in whole blocks of the
 * file system.
 */
final class FilePeer implements Peer {

    private final Path file;
    private final FileChannel channel;
    private final boolean direct;
    private final int block;
    private final ByteBuffer value;
    private final ByteBuffer fetched;

    private FilePeer(Path file, FileChannel channel, boolean direct, int maxBytes, int block) {
        this.file = file;
        this.channel = channel;
        this.direct = direct;
        this.block = block;
        value = aligned(maxBytes, block);
        fetched = aligned(maxBytes, block);
    }

    /** Allocates an aligned buffer; a slice of it ends at a multiple of the block, too. */
    private static ByteBuffer aligned(int bytes, int block) {
        return ByteBuffer.allocateDirect(bytes + 2 * block).alignedSlice(block);
    }

    /** @throws PeerAbsentException if the file system of the directory does not support direct I/O */
    static FilePeer open(Path directory, boolean direct, int maxBytes) throws IOException, PeerAbsentException {
        Path file = directory.resolve(direct ? "file-direct" : "file");
        Set<OpenOption> options = new HashSet<>(List.of(CREATE, READ, WRITE));
        if (direct) {
            options.add(ExtendedOpenOption.DIRECT);
        }
        int block = Math.toIntExact(Files.getFileStore(directory).getBlockSize());
        try {
            return new FilePeer(file, FileChannel.open(file, options), direct, maxBytes, block);
        } catch (IOException | UnsupportedOperationException e) {
            if (!direct) {
                throw e;
            }
            throw new PeerAbsentException(
                    "the file system of " + directory + " ("
                            + Files.getFileStore(directory).type() + ") has no direct I/O",
                    e);
        }
    }

    @Override
    public void use(byte[] newValue) throws PeerAbsentException {
        if (direct && newValue.length % block != 0) {
            throw new PeerAbsentException("direct I/O moves whole blocks of " + block + " bytes");
        }
        value.clear().put(newValue).flip();
        fetched.clear().limit(newValue.length);
    }

    @Override
    public void put(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            value.rewind();
            while (value.hasRemaining()) {
                channel.write(value, value.position());
            }
        }
    }

    @Override
    public void get(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            fetched.rewind();
            while (fetched.hasRemaining()) {
                if (channel.read(fetched, fetched.position()) < 0) {
                    throw new IOException(file + " ends before the value does");
                }
            }
        }
    }

    @Override
    public byte[] got() {
        byte[] bytes = new byte[fetched.limit()];
        fetched.get(0, bytes);
        return bytes;
    }

    @Override
    public boolean local() {
        return !direct;
    }

    @Override
    public int cores() {
        return 1;
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.delete(file);
    }
}
