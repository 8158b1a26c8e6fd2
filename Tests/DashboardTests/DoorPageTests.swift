import Checkout
import Foundation
import Testing

@testable import Dashboard

@Suite struct DoorPageTests {
    @Test("Every file of the page is compiled into the program")
    func everyFileOfThePageIsPartOfTheProgram() throws {
        let folder = Checkout.place("Controller/CDashboardPage/page")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".") && $0.contains(".") }
        let page = Page()
        #expect(Set(page.files.keys) == Set(names.map { $0 == "index.html" ? "/" : "/" + $0 }))
        for name in names {
            let file = try #require(page.files[name == "index.html" ? "/" : "/" + name])
            #expect(
                Data(file.bytes.readableBytesView) == (try Data(contentsOf: folder.appending(path: name))), "\(name)")
            #expect(file.type != "application/octet-stream", "\(name)")
        }
    }

    @Test("The entity tag depends only on the content")
    func aTagIsOfTheContent() {
        let page = Page([("a.js", [1]), ("b.js", [1]), ("c.css", [2])])
        #expect(page.files["/a.js"]?.tag == page.files["/b.js"]?.tag)
        #expect(page.files["/a.js"]?.tag != page.files["/c.css"]?.tag)
        #expect(page.files["/c.css"]?.type == "text/css; charset=utf-8")
    }
}
