package io.farheap.store.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store's last two checkpoints, each in a file of its own, {@code checkpoint-N}, and the files that they need beside
 * the log.
 */
public final class CheckpointFiles {

    private static final System.Logger LOG = System.getLogger(CheckpointFiles.class.getName());
    private static final Pattern NAME = Pattern.compile("checkpoint-(\\d{1,18})");
    private static final Pattern BESIDE = Pattern.compile("(snapshot|index)-\\d{1,18}");
    private static final int KEPT = 2;
    private static final String DAMAGED = ".damaged";

    private final StableFiles files;
    /** The files that a checkpoint needs, by its number. */
    private final Map<Long, Set<String>> needs = new HashMap<>();

    public CheckpointFiles(StableFiles files) {
        this.files = files;
    }

    /**
     * Writes a checkpoint. When this returns, it is durable, and only it and the one before are left. If older files
     * cannot be deleted, the checkpoint is durable nevertheless: they are deleted with the next one.
     *
     * @throws IOException if it may not be durable; its files beside the log are deleted, unless its own file is there
     */
    public void write(Checkpoint checkpoint) throws IOException {
        try {
            files.write(name(checkpoint.number()), checkpoint.encode());
        } catch (IOException e) {
            try {
                // Which of the checkpoints are durable is not known: delete none of them.
                deleteBeside(numbers());
            } catch (IOException | UncheckedIOException f) {
                e.addSuppressed(f);
            }
            throw e;
        }
        needs.put(checkpoint.number(), needs(checkpoint));
        try {
            deleteOthers();
        } catch (IOException | UncheckedIOException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "checkpoint " + checkpoint.number()
                            + " is durable, but files of older ones could not be deleted, which is tried again with the"
                            + " next: " + e.getMessage(),
                    e);
        }
    }

    /** Deletes the files that the newest checkpoints do not need. */
    private void deleteOthers() throws IOException {
        List<Long> numbers = numbers();
        for (int i = KEPT; i < numbers.size(); i++) {
            files.delete(name(numbers.get(i)));
            needs.remove(numbers.get(i));
        }
        deleteBeside(numbers.subList(0, Math.min(KEPT, numbers.size())));
    }

    /** Deletes the files beside the log that some checkpoints do not need. */
    private void deleteBeside(List<Long> numbers) throws IOException {
        Set<String> needed = new HashSet<>();
        for (long number : numbers) {
            try {
                needed.addAll(needs(number));
            } catch (CheckpointUnavailableException e) {
                // Which files it needs is not known: delete others the next time.
                return;
            }
        }
        for (String name : files.names()) {
            if (BESIDE.matcher(name).matches() && !needed.contains(name)) {
                files.delete(name);
            }
        }
    }

    private static Set<String> needs(Checkpoint checkpoint) {
        Set<String> names = new HashSet<>();
        checkpoint.pieces().forEach(piece -> names.add(SnapshotFiles.name(piece.file())));
        if (checkpoint.index().there()) {
            names.add(IndexFiles.name(checkpoint.number()));
        }
        return names;
    }

    private Set<String> needs(long number) throws CheckpointUnavailableException {
        Set<String> known = needs.get(number);
        if (known == null) {
            try {
                known = needs(read(number));
            } catch (DamagedCheckpointException e) {
                // It cannot be recovered.
                known = Set.of();
            }
            needs.put(number, known);
        }
        return known;
    }

    StableFiles files() {
        return files;
    }

    private static String name(long number) {
        return "checkpoint-" + number;
    }

    /** The numbers of all checkpoints, the newest first. */
    List<Long> numbers() throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (String name : files.names()) {
            Matcher matcher = NAME.matcher(name);
            if (matcher.matches()) {
                numbers.add(Long.parseLong(matcher.group(1)));
            }
        }
        numbers.sort((a, b) -> Long.compare(b, a));
        return numbers;
    }

    /**
     * Renames a checkpoint's files, so that it is not taken for a checkpoint any more, and no later one overwrites
     * them.
     */
    void setAside(long number) throws IOException {
        Set<String> names = Set.copyOf(files.names());
        for (String name : List.of(name(number), SnapshotFiles.name(number), IndexFiles.name(number))) {
            if (names.contains(name)) {
                files.rename(name, name + DAMAGED);
            }
        }
    }

    /**
     * @throws DamagedCheckpointException if it is not as it was written
     * @throws CheckpointUnavailableException if that is not known, since it cannot be read or another release has made
     *     it
     */
    public Checkpoint read(long number) throws DamagedCheckpointException, CheckpointUnavailableException {
        ByteBuffer bytes;
        try {
            bytes = files.read(name(number));
        } catch (IOException e) {
            String why = name(number) + " cannot be read: " + e.getMessage();
            if (StableFiles.isDamage(e)) {
                throw new DamagedCheckpointException(why);
            }
            throw new CheckpointUnavailableException(why);
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        Checkpoint checkpoint = Checkpoint.decode(copy);
        if (checkpoint.number() != number) {
            throw new DamagedCheckpointException("it is number " + checkpoint.number());
        }
        return checkpoint;
    }
}
