package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ServerProcess;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A map from the command line, each command a client of its own; the servers are processes of their own. */
@Needs(Need.HOST)
class KvCommandTest {

    private static final long MIB = 1 << 20;

    private String servers = "";

    private String run(int exitCode, String command, String... more) {
        List<String> arguments = new ArrayList<>(List.of("kv", command, "--token", "not secret", "--servers", servers));
        arguments.addAll(List.of(more));
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        assertEquals(
                exitCode,
                Main.commandLine().setOut(out).setErr(out).execute(arguments.toArray(String[]::new)),
                text::toString);
        return text.toString();
    }

    @Test
    void aMapIsMadeUsedAndDropped() {
        try (ServerProcess first = TestServer.start(4 * MIB, MIB);
                ServerProcess second = TestServer.start(4 * MIB, MIB)) {
            servers = first.address() + "," + second.address();
            String made = run(0, "create", "prices", "--memory", "4m", "--objects", "1000");
            assertTrue(made.contains("made a map: 0 objects"), made);
            assertTrue(run(1, "get", "prices", "bread").contains("the map has no object bread"));
            run(0, "set", "prices", "bread", "3.20 a loaf");
            run(0, "set", "prices", "milk", "1.10", "--life", "60s");
            assertTrue(run(0, "get", "prices", "bread").endsWith("3.20 a loaf\n"));
            assertTrue(run(0, "get", "prices", "milk").endsWith("1.10\n"));
            assertTrue(run(1, "get", "prices", "bread", "--to", "/nowhere/bread")
                    .endsWith("farheap: cannot write the value: /nowhere/bread: there is no such file or directory\n"));
            String stats = run(0, "stats", "prices");
            assertTrue(stats.contains("2 objects in blocks of"), stats);
            String audit = run(0, "audit", "prices");
            assertTrue(audit.contains(": 2 live, 0 held by sessions, "), audit);
            String weights = run(0, "weights", "prices");
            assertTrue(weights.matches("(?s).*once +0\\.\\d{4}\\nagain +[01]\\.\\d{4}\\n"), weights);
            assertTrue(run(1, "grow", "prices", "--memory", "1g").contains("gives the map no 512 regions more"));
            String grown = run(0, "grow", "prices", "--memory", "2m");
            assertTrue(grown.contains("the map has grown: 2 objects") && grown.contains("; 6 regions of"), grown);
            assertTrue(run(0, "get", "prices", "bread").endsWith("3.20 a loaf\n"));
            try (ServerProcess third = TestServer.start(4 * MIB, MIB)) {
                String joined = run(0, "grow", "prices", "--memory", "3m", "--on", third.address());
                assertTrue(joined.contains("; 9 regions of"), joined);
                run(0, "set", "prices", "butter", "2.00");
                String drained = run(0, "drain", "prices", "--from", third.address(), "--within", "30s");
                assertTrue(drained.contains(third.address() + " has left the map after "), drained);
                assertTrue(run(0, "stats", "prices").contains("3 objects"));
            }
            String dead;
            try (ServerProcess fourth = TestServer.start(4 * MIB, MIB)) {
                dead = fourth.address();
                run(0, "grow", "prices", "--memory", "1m", "--on", dead);
            }
            String unreachable = run(1, "stats", "prices");
            assertTrue(unreachable.contains("farheap kv drain --lost"), unreachable);
            run(0, "drain", "prices", "--from", dead, "--lost");
            assertTrue(run(0, "stats", "prices").contains("3 objects"));
            String refused = run(1, "drain", "prices", "--from", first.address());
            assertTrue(refused.contains("has a part of the map's table"), refused);
            run(0, "delete", "prices", "bread");
            run(1, "delete", "prices", "bread");
            String again = run(1, "create", "prices");
            assertTrue(again.contains("farheap: "), again);
            run(0, "drop", "prices");
            String gone = run(1, "stats", "prices");
            assertTrue(gone.contains("farheap: ") && gone.contains("no space"), gone);
            String none = run(1, "drop", "prices", "--parts");
            assertTrue(none.startsWith("no server of --servers has a part of the map: "), none);
            run(0, "create", "prices", "--memory", "2m");
            assertTrue(run(0, "drop", "prices", "--parts").endsWith("a part of the map: 2\n"));
        }
    }

    @Test
    void aLeasedMapIsMadeUsedAndDropped() {
        try (ServerProcess first = TestServer.start(4 * MIB, MIB);
                ServerProcess second = TestServer.start(4 * MIB, MIB)) {
            servers = first.address() + "," + second.address();
            String unknown = run(1, "create", "prices", "--engine", "rented");
            assertTrue(unknown.contains("there is no engine rented; take one of [disaggregated, leased]"), unknown);
            String terms = run(1, "create", "prices", "--lease-step", "2s");
            assertTrue(terms.contains("leases of PT2S up to PT10S"), terms);
            String tooLong = run(1, "create", "prices", "--engine", "leased", "--lease-longest", "120m");
            assertTrue(tooLong.contains("leases of PT1S up to PT2H"), tooLong);
            String[] leased = {
                "prices",
                "--engine",
                "leased",
                "--memory",
                "4m",
                "--objects",
                "1000",
                "--lease-step",
                "100ms",
                "--lease-longest",
                "1s"
            };
            assertTrue(run(0, "create", leased).contains("made a map: 0 objects"));
            for (int i = 0; i < 20; i++) {
                run(0, "set", "prices", "bread" + i, i + ".20 a loaf");
            }
            for (int i = 0; i < 20; i++) {
                assertTrue(run(0, "get", "prices", "bread" + i).endsWith(i + ".20 a loaf\n"));
            }
            run(0, "delete", "prices", "bread7");
            run(1, "get", "prices", "bread7");
            run(1, "delete", "prices", "bread7");
            String stats = run(0, "stats", "prices");
            assertTrue(stats.contains("19 objects in blocks of") && !stats.contains("history"), stats);
            String audited = run(0, "audit", "prices");
            assertTrue(audited.contains("19 live") && audited.contains("0 lost"), audited);
            String refused = run(1, "grow", "prices", "--memory", "2m");
            assertTrue(refused.contains("a leased map cannot grow"), refused);
            String left = run(0, "drain", "prices", "--from", second.address());
            assertTrue(left.contains("has left the map"), left);
            run(0, "set", "prices", "bread1", "1.30 a loaf");
            String grown = run(0, "grow", "prices", "--memory", "1m", "--on", second.address());
            assertTrue(grown.contains("the map has grown"), grown);
            run(0, "set", "prices", "bread2", "2.30 a loaf");
            assertTrue(run(0, "get", "prices", "bread2").endsWith("2.30 a loaf\n"));
            String last = run(1, "drain", "prices", "--from", first.address());
            assertTrue(last.contains("is the last of those that the map was made on"), last);
            run(0, "drop", "prices");
            run(1, "stats", "prices");
        }
    }

    private static String lastWord(String text) {
        return text.strip().lines().toList().getLast();
    }

    @Test
    @Tag("full")
    void objectsAreStoredOnConditionsAndFromFiles(@TempDir Path directory) throws IOException {
        try (ServerProcess server = TestServer.start(8 * MIB, MIB)) {
            servers = server.address();
            run(0, "create", "files", "--memory", "8m", "--objects", "100");
            run(1, "set", "files", "page", "one", "--if-present");
            run(0, "set", "files", "page", "one", "--if-absent");
            assertTrue(run(1, "set", "files", "page", "two", "--if-absent").contains("has object page already"));
            List<String> lines =
                    run(0, "get", "files", "page", "--with-version").lines().toList();
            String version = lines.get(lines.size() - 2);
            assertEquals("one", lines.getLast());
            run(0, "set", "files", "page", "two", "--if-version", version);
            assertTrue(run(1, "set", "files", "page", "three", "--if-version", version)
                    .contains("is not of version " + version));
            assertEquals("two", lastWord(run(0, "get", "files", "page")));

            byte[] content = new byte[(int) MIB];
            new SplittableRandom(1).nextBytes(content);
            Path from = Files.write(directory.resolve("from"), content);
            Path to = directory.resolve("to");
            run(0, "set", "files", "photo", "--from", from.toString());
            run(0, "get", "files", "photo", "--to", to.toString());
            assertArrayEquals(content, Files.readAllBytes(to));
            assertTrue(run(1, "set", "files", "photo").contains("say either VALUE or --from FILE"));
            String missing = run(
                    1,
                    "set",
                    "files",
                    "photo",
                    "--from",
                    directory.resolve("none").toString());
            assertTrue(
                    missing.endsWith("farheap: cannot read the value: " + directory.resolve("none")
                            + ": there is no such file or directory\n"),
                    missing);
        }
    }
}
