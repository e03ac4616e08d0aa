package io.farheap.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Reads what ctest writes with {@code --output-junit}.
 *
 * @param flavour stands before each test's name, as the same tests run in several builds
 */
record CtestReader(String flavour) implements OutcomeReader {

    static String file(Path scratch) {
        return scratch.toAbsolutePath().resolve("ctest.xml").toString();
    }

    @Override
    public Outcome read(Path scratch, Ending ending) {
        List<Result> results = new ArrayList<>();
        if (Files.exists(Path.of(file(scratch)))) {
            try {
                NodeList tests = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Path.of(file(scratch)).toFile())
                        .getElementsByTagName("testcase");
                for (int i = 0; i < tests.getLength(); i++) {
                    results.add(result((Element) tests.item(i)));
                }
            } catch (IOException | SAXException | ParserConfigurationException e) {
                return Outcome.of(Result.failure("ctest " + flavour, "its report cannot be read: " + e));
            }
        }
        if (results.isEmpty() || !ending.passed() && results.stream().allMatch(one -> one.failed() == 0)) {
            results.add(Result.failure("ctest " + flavour, ending.how() + "\n" + ending.said()));
        }
        // ctest does not say what each test took of a processor: their share of all by the wall.
        double wall = results.stream().mapToDouble(Result::seconds).sum();
        return new Outcome(
                results.stream()
                        .map(one -> withShare(one, ending.cpuSeconds(), wall))
                        .toList(),
                List.of(),
                List.of());
    }

    private Result result(Element test) {
        String name = flavour + " " + test.getAttribute("name");
        double seconds = Double.parseDouble(test.getAttribute("time"));
        // run, fail, or disabled and notrun: none of ours is ever meant not to run.
        boolean ran = test.getAttribute("status").equals("run");
        String said = test.getElementsByTagName("system-out").getLength() == 0
                ? ""
                : test.getElementsByTagName("system-out").item(0).getTextContent();
        String failure = ran ? "" : test.getAttribute("status") + "\n" + said;
        return new Result(name, ran ? 1 : 0, ran ? 0 : 1, 0, seconds, 0, failure);
    }

    private static Result withShare(Result one, double cpu, double wall) {
        return new Result(
                one.name(),
                one.passed(),
                one.failed(),
                one.skipped(),
                one.seconds(),
                wall > 0 ? cpu * one.seconds() / wall : 0,
                one.failure());
    }
}
