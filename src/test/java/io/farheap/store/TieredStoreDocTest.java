package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The example of docs/tiered-store.md, compiled and run as it stands, twice: the second time it goes on. */
@Needs(Need.HOST)
@Isolated("it looks at what the process prints")
class TieredStoreDocTest {

    private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

    @Test
    void theExampleWorks(@TempDir Path directory) throws Exception {
        Matcher matcher = EXAMPLE.matcher(Files.readString(Path.of("docs/tiered-store.md")));
        assertTrue(matcher.find(), "docs/tiered-store.md has a Java example");
        Path source = Files.writeString(directory.resolve("Example.java"), matcher.group(1));
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        messages,
                        messages,
                        "-d",
                        directory.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString());
        assertEquals(0, result, messages.toString(StandardCharsets.UTF_8));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream standardOutput = System.out;
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            Method main = loader.loadClass("Example").getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            System.setOut(new PrintStream(output, true));
            main.invoke(null, (Object) new String[] {directory.resolve("store").toString()});
            main.invoke(null, (Object) new String[] {directory.resolve("store").toString()});
        } finally {
            System.setOut(standardOutput);
        }
        assertEquals(
                List.of("1", "2"),
                output.toString(StandardCharsets.UTF_8).lines().toList());
    }
}
