package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The verdicts of {@code farheap procedure check} on classes. */
class ProcedureCommandTest {

    @TempDir
    private Path directory;

    private static String run(int exitCode, Path file) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        assertEquals(
                exitCode,
                Main.commandLine().setOut(out).setErr(out).execute("procedure", "check", file.toString()),
                text::toString);
        return text.toString();
    }

    private Path compile(String name, String body) throws IOException {
        Path source = directory.resolve(name + ".java");
        Files.writeString(
                source,
                "import io.farheap.procedure.Call;\npublic final class " + name
                        + " {\npublic static int run(Call call) {\n" + body + "}}\n");
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-proc:none",
                                "-cp",
                                System.getProperty("java.class.path"),
                                source.toString()));
        return directory.resolve(name + ".class");
    }

    @Test
    void saysWhatAProcedureCosts() throws IOException {
        String said = run(0, compile("Sum", """
                long sum = 0;
                for (long node = call.argument(0); node != 0; node = call.getLong(node)) {
                    for (int i = 0; i < 3; i++) {
                        sum++;
                    }
                }
                call.putLong(0, sum);
                return 0;
                """));
        assertTrue(said.contains("Sum: admitted, writes"), said);
        assertTrue(said.contains("resume points  4\n"), said);
        assertTrue(said.contains("loop           line 5: at most "), said);
        assertTrue(said.contains("loop           line 6, in 1 other: at most "), said);
    }

    @Test
    void saysWhatIsRefused() throws IOException {
        String said = run(1, compile("Bad", "\nlong[] a = new long[4]; return 0;"));
        assertTrue(said.contains("farheap: Bad, line 5: newarray: arrays are not in the subset"), said);
        said = run(1, directory.resolve("none.class"));
        assertTrue(said.contains("none.class: there is no such file"), said);
        Files.writeString(directory.resolve("text.class"), "text");
        said = run(1, directory.resolve("text.class"));
        assertTrue(said.contains("text.class is not a class file; compile the procedure"), said);
        compile("Source", "return 0;");
        said = run(1, directory.resolve("Source.java"));
        assertTrue(said.contains("Source.java is not a class file, but Java source; compile the procedure"), said);
    }
}
