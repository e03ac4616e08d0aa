package io.farheap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Node;

/** The library's POM and the modules' have no parent in common, so a property that both define must be the same. */
class PomsTest {

    /** ArchUnit needs an older version than ZooKeeper. */
    private static final Set<String> OF_ITS_OWN = Set.of("slf4j.version");

    @Test
    void propertiesThatBothHaveAreTheSame() throws Exception {
        Map<String, String> library = properties(Path.of("pom.xml"));
        Map<String, String> modules = properties(Path.of("modules", "pom.xml"));
        assertTrue(modules.containsKey("errorprone.checks"), "there is something to compare");
        modules.keySet().retainAll(library.keySet());
        modules.keySet().removeAll(OF_ITS_OWN);
        library.keySet().retainAll(modules.keySet());
        assertEquals(library, modules);
    }

    private static Map<String, String> properties(Path pom) throws Exception {
        Map<String, String> found = new LinkedHashMap<>();
        try (var text = Files.newInputStream(pom)) {
            Node properties = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(text)
                    .getElementsByTagName("properties")
                    .item(0);
            for (Node one = properties.getFirstChild(); one != null; one = one.getNextSibling()) {
                if (one.getNodeType() == Node.ELEMENT_NODE) {
                    found.put(one.getNodeName(), one.getTextContent());
                }
            }
        }
        return found;
    }
}
