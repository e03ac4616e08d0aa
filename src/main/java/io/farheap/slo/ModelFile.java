package io.farheap.slo;

import io.farheap.lifetime.Closeables;
import io.farheap.posix.ExclusiveLock;
import io.farheap.posix.PosixException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A performance model's file ({@link ModelFormat}). While it is open it takes the measurements of one process, each of
 * which is on disk before the next begins; a process that opens it again continues after the last. One thread at a
 * time.
 */
public final class ModelFile implements AutoCloseable {

    /** The version of the format: files of another version are refused. */
    public static final int VERSION = ModelFormat.VERSION;

    private final FileChannel channel;
    private final ExclusiveLock lock;
    private final MeasurementPlan plan;
    private final ModelFormat.ModelChecksum checksum;

    /** Takes ownership of {@code channel} and {@code lock} if it returns. */
    private ModelFile(FileChannel channel, ExclusiveLock lock, Path file, ModelSubject subject) throws IOException {
        this.channel = channel;
        this.lock = lock;
        ModelReader reader = new ModelReader(file.toString(), read(file, channel), subject);
        plan = reader.plan();
        channel.truncate(reader.validBytes());
        channel.position(reader.validBytes());
        checksum = reader.checksum();
        if (reader.validBytes() == 0) {
            append(ModelFormat.header(subject, checksum));
        }
        if (!reader.sealed()) {
            sealIfComplete();
        }
    }

    /**
     * Opens a file for measurements: a new one, or one that was begun for the same subject.
     *
     * @throws ModelFileException if it cannot be continued, or another process is measuring into it
     */
    public static ModelFile open(Path file, ModelSubject subject) throws IOException {
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        ExclusiveLock lock = null;
        try {
            lock = lock(file);
            return new ModelFile(channel, lock, file, subject);
        } catch (Throwable e) {
            Closeables.after(e, channel, lock);
            throw e;
        }
    }

    /**
     * Loads a complete model.
     *
     * @param subject the subject that the model must have
     * @throws ModelFileException if it has another subject or version, is damaged, or is not complete
     */
    public static PerformanceModel load(Path file, ModelSubject subject) throws IOException {
        return complete(file.toString(), new ModelReader(file.toString(), read(file), subject));
    }

    /**
     * Loads a complete model of any subject, which {@link PerformanceModel#subject} returns. A cache refuses a model of
     * another device.
     *
     * @throws ModelFileException if it has another version, is damaged, or is not complete
     */
    public static PerformanceModel load(Path file) throws IOException {
        return parse(file.toString(), read(file));
    }

    /**
     * Reads a complete model of any subject from the content of its file.
     *
     * @param what a name of these bytes, for messages
     * @throws ModelFileException as {@link #load(Path)}
     */
    public static PerformanceModel parse(String what, byte[] text) throws ModelFileException {
        return complete(what, new ModelReader(what, text));
    }

    private static PerformanceModel complete(String file, ModelReader reader) throws ModelFileException {
        if (!reader.sealed()) {
            throw new ModelFileException(
                    file + " is not complete: it has " + reader.plan().measured() + " measurements and lacks up to "
                            + reader.plan().atMost() + "; continue to measure into it");
        }
        return reader.plan().model();
    }

    private static byte[] read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return read(file, channel);
        }
    }

    private static ExclusiveLock lock(Path file) throws IOException {
        @Nullable ExclusiveLock lock;
        try {
            lock = ExclusiveLock.tryTake(file);
        } catch (PosixException e) {
            throw new IOException(e.getMessage(), e);
        }
        if (lock == null) {
            throw new ModelFileException(
                    file + " is being measured into already; wait until that has ended, or name another file");
        }
        return lock;
    }

    private static byte[] read(Path file, FileChannel channel) throws IOException {
        long size = channel.size();
        if (size > ModelReader.MAX_BYTES) {
            throw new ModelFileException(file + " is not a performance model: it has " + size
                    + " bytes, and models have at most " + ModelReader.MAX_BYTES + "; name a file that holds one");
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) size);
        while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
            // One read may return only a part.
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    /** The measurements so far, and the next one. Use {@link #record}, and not the plan's own method. */
    public MeasurementPlan plan() {
        return plan;
    }

    /**
     * Records the performance of the plan's next configuration, and returns when it is on disk.
     *
     * @throws IllegalStateException if the plan is complete
     * @throws IllegalArgumentException as {@link MeasurementPlan#record}
     */
    public void record(Performance performance) throws IOException {
        Configuration configuration = plan.next();
        plan.record(performance);
        append(checksum.seal(ModelFormat.measurement(configuration, performance)));
        sealIfComplete();
    }

    private void sealIfComplete() throws IOException {
        if (plan.complete()) {
            append(checksum.seal(ModelFormat.COMPLETE + plan.measured()));
        }
    }

    private void append(String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        channel.force(false);
    }

    @Override
    public void close() throws IOException {
        try (lock) {
            channel.close();
        }
    }
}
