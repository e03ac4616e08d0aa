package io.farheap.store.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.store.checkpoint.StableFiles.Output;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that was not written to its end takes no space afterwards. */
class DirectoryFilesTest {

    @TempDir
    private Path directory;

    @Test
    void aFileThatIsNotCommittedIsDeleted() throws IOException {
        DirectoryFiles files = new DirectoryFiles(directory);
        try (Output output = files.create("snapshot-1")) {
            output.write(ByteBuffer.wrap(new byte[100]));
        }
        assertEquals(List.of(), files.names());
        files.write("checkpoint-1", ByteBuffer.wrap(new byte[100]));
        assertEquals(List.of("checkpoint-1"), files.names());
    }

    /** Only names that a store gives are deleted, and nothing before the first file is written. */
    @Test
    void whatAKilledProcessHasLeftIsDeletedWithTheFirstFile() throws IOException {
        for (String name : List.of("snapshot-3.new", "index-3.new", "checkpoint-4.new", "mine.new")) {
            Files.write(directory.resolve(name), new byte[100]);
        }
        DirectoryFiles files = new DirectoryFiles(directory);
        assertEquals(4, files.names().size(), "opening changes nothing");
        files.write("checkpoint-4", ByteBuffer.wrap(new byte[100]));
        assertEquals(Set.of("checkpoint-4", "mine.new"), Set.copyOf(files.names()));
    }

    /** One that cannot be deleted stops no checkpoint. */
    @Test
    void aLeftoverThatCannotBeDeletedIsPassedBy() throws IOException {
        Path inTheWay = Files.createDirectories(directory.resolve("snapshot-3.new/full"));
        DirectoryFiles files = new DirectoryFiles(directory);
        files.write("checkpoint-4", ByteBuffer.wrap(new byte[100]));
        assertEquals(Set.of("checkpoint-4", "snapshot-3.new"), Set.copyOf(files.names()));
        Files.delete(inTheWay);
        files.write("checkpoint-5", ByteBuffer.wrap(new byte[100]));
        assertEquals(Set.of("checkpoint-4", "checkpoint-5"), Set.copyOf(files.names()));
    }
}
