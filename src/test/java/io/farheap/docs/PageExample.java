package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** An example of a page, compiled and run as it stands. */
public final class PageExample implements AutoCloseable {

    private final URLClassLoader loader;
    private final String name;

    /**
     * Compiles the blocks of a page that declare some classes.
     *
     * @param directory for the files
     * @param classes each declared by one block; the first has the method {@code main}
     */
    public PageExample(String page, Path directory, String... classes) throws Exception {
        List<String> arguments = new ArrayList<>(
                List.of("-proc:none", "-d", directory.toString(), "-cp", System.getProperty("java.class.path")));
        for (String each : classes) {
            arguments.add(Files.writeString(directory.resolve(each + ".java"), source(page, each))
                    .toString());
        }
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result =
                ToolProvider.getSystemJavaCompiler().run(null, messages, messages, arguments.toArray(String[]::new));
        assertEquals(0, result, messages.toString(StandardCharsets.UTF_8));
        loader = new URLClassLoader(new URL[] {directory.toUri().toURL()}, PageExample.class.getClassLoader());
        name = classes[0];
    }

    private static String source(String page, String name) {
        Pattern declaration = Pattern.compile("\\bclass " + name + " \\{");
        List<String> found = Page.read(Path.of(page)).blocks().stream()
                .filter(block -> block.language().equals("java"))
                .map(Page.Block::text)
                .filter(text -> declaration.matcher(text).find())
                .toList();
        assertEquals(1, found.size(), page + " has one example with class " + name);
        return found.getFirst();
    }

    /** @return the lines that it prints */
    public List<String> run(String... arguments) throws Exception {
        Method main = loader.loadClass(name).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream standardOutput = System.out;
        try {
            System.setOut(new PrintStream(output, true));
            main.invoke(null, (Object) arguments);
        } finally {
            System.setOut(standardOutput);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
