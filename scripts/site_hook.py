"""What mkdocs does differently for these pages (mkdocs.yml): headings are named as GitHub names them, links to files outside docs/
become their text, and what makes the pages is left out of the site."""

import posixpath
import re


def github_name(text, _separator):
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = github_name
    return config


def on_files(files, config):
    for file in list(files):
        if file.src_uri.startswith(("man/", "completions/")):
            files.remove(file)
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def kept(link):
        path = posixpath.normpath(posixpath.join(folder, link[2].partition("#")[0]))
        return link[1] if path.startswith("..") else link[0]

    return re.sub(r"\[([^\]]*)\]\(([^):\s]+)\)", kept, markdown)
