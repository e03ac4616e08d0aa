package io.farheap.store.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.store.checkpoint.StableFiles.Output;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /** Only names that a store gives are deleted. */
    @Test
    void whatAKilledProcessHasLeftIsDeleted() throws IOException {
        Files.write(directory.resolve("snapshot-3.new"), new byte[100]);
        Files.write(directory.resolve("index-3.new"), new byte[100]);
        Files.write(directory.resolve("mine.new"), new byte[100]);
        assertEquals(List.of("mine.new"), new DirectoryFiles(directory).names());
    }
}
