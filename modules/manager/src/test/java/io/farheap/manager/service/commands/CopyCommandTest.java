package io.farheap.manager.service.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.TenantRecord;
import io.farheap.manager.state.ZooKeeperStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CopyCommandTest {

    private static final TenantRecord ACME = new TenantRecord("acme", 5, 7);

    @TempDir
    private Path directory;

    /** Runs the command and returns its output. */
    private static String run(int exitCode, String... options) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text, true);
        CommandLine command = new CommandLine(new ManagerCommand())
                .setOut(out)
                .setErr(out)
                .setExecutionExceptionHandler((failure, _, _) -> {
                    out.println(failure.getMessage());
                    return 1;
                });
        String[] line = new String[options.length + 1];
        line[0] = "copy";
        System.arraycopy(options, 0, line, 1, options.length);
        assertEquals(exitCode, command.execute(line), text::toString);
        return text.toString();
    }

    private static void assertSays(String said, String... parts) {
        for (String part : parts) {
            assertTrue(said.contains(part), said);
        }
    }

    @Test
    void aDirectoryGoesToAnotherZooKeeperAndIntoADirectory() {
        Path old = directory.resolve("old");
        Path young = directory.resolve("young");
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(old);
                ZooKeeperStore store = new ZooKeeperStore(zookeeper.connection())) {
            store.write(List.of(new StateChange.PutTenant(ACME)));
        }
        try (EmbeddedZooKeeper other = EmbeddedZooKeeper.start(directory.resolve("other"))) {
            assertSays(
                    run(0, "--from-data", old.toString(), "--to-zookeeper", other.connection()),
                    "copied 0 servers, 0 caches, 0 models, 1 quota, no menu from the directory " + old
                            + " to the ZooKeeper at " + other.connection());
            assertSays(
                    run(1, "--from-data", old.toString(), "--to-data", young.toString()),
                    "was copied to the ZooKeeper at " + other.connection());
            run(0, "--from-zookeeper", other.connection(), "--to-data", young.toString());
        }
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(young);
                ZooKeeperStore store = new ZooKeeperStore(zookeeper.connection())) {
            assertEquals(List.of(ACME), store.load().tenants());
        }
    }

    @Test
    void whatDoesNotFitTogetherIsRefused() {
        String data = directory.resolve("old").toString();
        String members = "1@127.0.0.1:7310,2@127.0.0.1:7320,3@127.0.0.1:7330";
        assertSays(run(2), "--from-data DIR, or --from-zookeeper");
        assertSays(run(2, "--from-data", data), "--to-data DIR, or --to-zookeeper");
        assertSays(run(2, "--from-data", data, "--from-zookeeper", "h:1"), "name one place");
        assertSays(run(2, "--from-data", data, "--from-id", "1"), "--from-id and --from-ensemble belong together");
        assertSays(
                run(2, "--from-data", data, "--to-data", data, "--to-ensemble", members),
                "--to-id and --to-ensemble belong together");
        assertSays(
                run(2, "--from-data", data, "--to-zookeeper", "h:1", "--to-ensemble", members, "--to-id", "1"),
                "--to-zookeeper is a ZooKeeper of its own");
        assertSays(run(1, "--from-data", data, "--to-data", data), "copy it to another place");
        assertFalse(Files.exists(directory.resolve("old")));
    }
}
