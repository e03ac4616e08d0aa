package io.farheap.store.checkpoint;

import io.farheap.posix.DirectFile;
import io.farheap.posix.PosixException;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of a directory. A file is written under another name, synced and renamed, and then the directory is synced.
 * An interrupt does not disturb reads and writes; it would close a {@code FileChannel} for all threads.
 */
public final class DirectoryFiles implements StableFiles {

    private static final System.Logger LOG = System.getLogger(DirectoryFiles.class.getName());
    private static final String ASIDE = ".new";
    /** Files that were being written when an earlier process ended. */
    private static final Pattern LEFT = Pattern.compile("(checkpoint|snapshot|index)-\\d{1,18}\\.new");

    private static final int PIECE_BYTES = 1 << 16;

    private final Path directory;
    /** Files that an earlier process has left and that are still there. Guarded by this object. */
    private final Set<String> left = new HashSet<>();

    private boolean told;

    /**
     * Makes the directory if it does not exist. Files whose writing an earlier process has not ended are deleted when
     * the first file is created: until then a store that refuses to open has changed nothing.
     */
    public DirectoryFiles(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(directory);
        for (String name : names()) {
            if (LEFT.matcher(name).matches()) {
                left.add(name);
            }
        }
    }

    /** @param making the file that is created now, which replaces one of its name */
    private synchronized void clear(String making) {
        left.remove(making);
        for (Iterator<String> each = left.iterator(); each.hasNext(); ) {
            String name = each.next();
            try {
                Files.deleteIfExists(directory.resolve(name));
                each.remove();
            } catch (IOException e) {
                if (!told) {
                    told = true;
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "the unfinished file " + name + " of an earlier process could not be deleted, which is"
                                    + " tried again with the next checkpoint: " + e.getMessage(),
                            e);
                }
            }
        }
    }

    @Override
    public Output create(String name) throws IOException {
        clear(name + ASIDE);
        Path aside = directory.resolve(name + ASIDE);
        RandomAccessFile file = opened(aside, "rw");
        try {
            file.setLength(0);
        } catch (Throwable e) {
            file.close();
            throw e;
        }
        return new Output() {
            private byte[] piece = {};
            private boolean renamed;

            @Override
            public void write(ByteBuffer bytes) throws IOException {
                if (bytes.hasArray()) {
                    file.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
                    bytes.position(bytes.limit());
                    return;
                }
                if (piece.length == 0) {
                    piece = new byte[PIECE_BYTES];
                }
                while (bytes.hasRemaining()) {
                    int count = Math.min(piece.length, bytes.remaining());
                    bytes.get(piece, 0, count);
                    file.write(piece, 0, count);
                }
            }

            @Override
            public void commit() throws IOException {
                file.getFD().sync();
                file.close();
                Files.move(aside, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
                renamed = true;
                syncNames();
            }

            @Override
            public void close() throws IOException {
                file.close();
                if (!renamed) {
                    Files.deleteIfExists(aside);
                }
            }
        };
    }

    /** @throws NoSuchFileException if the file does not exist, and only then */
    private static RandomAccessFile opened(Path path, String mode) throws IOException {
        try {
            return new RandomAccessFile(path.toFile(), mode);
        } catch (FileNotFoundException e) {
            // The same exception is thrown if there is no permission, or no file descriptor left.
            if (Files.notExists(path)) {
                throw new NoSuchFileException(path.toString());
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    private void syncNames() throws IOException {
        try {
            DirectFile.syncDirectory(directory);
        } catch (PosixException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public Input open(String name) throws IOException {
        RandomAccessFile file = opened(directory.resolve(name), "r");
        return new Input() {
            @Override
            public long bytes() throws IOException {
                return file.length();
            }

            @Override
            public void read(long position, ByteBuffer into) throws IOException {
                file.seek(position);
                while (into.hasRemaining()) {
                    int count = file.read(into.array(), into.arrayOffset() + into.position(), into.remaining());
                    if (count < 0) {
                        throw new EOFException(name + " ends at " + (position + into.position()));
                    }
                    into.position(into.position() + count);
                }
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }

    @Override
    public List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
        syncNames();
    }

    @Override
    public void delete(String name) throws IOException {
        Files.deleteIfExists(directory.resolve(name));
        syncNames();
    }
}
